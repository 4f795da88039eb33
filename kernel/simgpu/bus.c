// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the bus
 *
 * A device without hardware is on the faux bus, or on the platform bus in older
 * kernels. The latter lets root unbind the device and bind it again.
 */

#include "file.h"

#ifdef HAVE_FAUX_DEVICE

#include <linux/device/faux.h>

static struct faux_device *bus_device;
/* The bus does not pass the error on. */
static int bus_error;

static int bus_probe(struct faux_device *faux)
{
	bus_error = simgpu_probe(&faux->dev);
	return bus_error;
}

static void bus_remove(struct faux_device *faux)
{
	simgpu_remove(&faux->dev);
}

static const struct faux_device_ops bus_ops = {
	.probe = bus_probe,
	.remove = bus_remove,
};

/**
 * simgpu_bus_add() - create the device
 *
 * Context: process, sleeps.
 * Return: 0, or an error of simgpu_probe() or of the bus.
 */
int simgpu_bus_add(void)
{
	bus_device = faux_device_create("simgpu", NULL, &bus_ops);
	if (bus_device)
		return 0;
	return bus_error ?: -ENODEV;
}

/**
 * simgpu_bus_remove() - remove the device
 *
 * Context: process, sleeps.
 */
void simgpu_bus_remove(void)
{
	faux_device_destroy(bus_device);
}

#else

#include <linux/platform_device.h>

static struct platform_device *bus_device;
/* Of the first probe; the bus does not pass it on. */
static int bus_error;

static int bus_probe(struct platform_device *pdev)
{
	bus_error = simgpu_probe(&pdev->dev);
	return bus_error;
}

#ifdef HAVE_PLATFORM_REMOVE_INT
static int bus_remove(struct platform_device *pdev)
{
	simgpu_remove(&pdev->dev);
	return 0;
}
#else
static void bus_remove(struct platform_device *pdev)
{
	simgpu_remove(&pdev->dev);
}
#endif

static struct platform_driver bus_driver = {
	.probe = bus_probe,
	.remove = bus_remove,
	.driver = { .name = "simgpu" },
};

/**
 * simgpu_bus_add() - create the device
 *
 * Context: process, sleeps.
 * Return: 0, or an error of simgpu_probe() or of the bus.
 */
int simgpu_bus_add(void)
{
	int ret = platform_driver_register(&bus_driver);

	if (ret)
		return ret;
	bus_device = platform_device_register_simple("simgpu", -1, NULL, 0);
	if (!IS_ERR(bus_device)) {
		if (!bus_error)
			return 0;
		platform_device_unregister(bus_device);
		ret = bus_error;
	} else {
		ret = PTR_ERR(bus_device);
	}
	platform_driver_unregister(&bus_driver);
	return ret;
}

/**
 * simgpu_bus_remove() - remove the device
 *
 * Context: process, sleeps.
 */
void simgpu_bus_remove(void)
{
	platform_device_unregister(bus_device);
	platform_driver_unregister(&bus_driver);
}

#endif
